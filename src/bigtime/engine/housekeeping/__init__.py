"""Background work: checkpoints, expiry, backfills, trimming, dropping."""

from bigtime.engine.housekeeping.complaints import Complaints
from bigtime.engine.housekeeping.housekeeper import Housekeeper
from bigtime.engine.housekeeping.log_keeper import CHECKPOINT_BYTES

__all__ = ["CHECKPOINT_BYTES", "Complaints", "Housekeeper"]
