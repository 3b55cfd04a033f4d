"""The site over the systems: pages and JSON APIs."""

from bigtime.extras import extra

with extra("site"):
    import fastapi as fastapi  # says at once what to install, whichever module is imported first
