# DNS that follows the health of the primary region: three failed checks, 30 seconds apart, and a
# TTL of 60 seconds. Without a zone nothing of it is made.
#
# A region that is not the writer is not ready, so the name leaves it with `bigtime failover`, and
# comes back with `bigtime failback`. The other region need not be ready to be gone to: it can be
# read until it is the writer; so it is asked only whether it runs.

locals {
  hosts = var.zone_id == null ? {} : { PRIMARY = var.primary_host, SECONDARY = var.secondary_host }
  paths = { PRIMARY = "/readyz", SECONDARY = "/healthz" }
}

resource "aws_route53_health_check" "region" {
  for_each          = local.hosts
  fqdn              = each.value
  type              = "HTTPS"
  port              = 443
  resource_path     = local.paths[each.key]
  request_interval  = 30
  failure_threshold = 3
  tags              = var.tags
}

resource "aws_route53_record" "failover" {
  for_each        = local.hosts
  zone_id         = var.zone_id
  name            = var.host
  type            = "CNAME"
  ttl             = 60
  records         = [each.value]
  set_identifier  = lower(each.key)
  health_check_id = aws_route53_health_check.region[each.key].id

  failover_routing_policy {
    type = each.key
  }
}
