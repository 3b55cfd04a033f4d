# DNS that follows the health of the primary region: three failed checks, 30 seconds apart, and a
# TTL of 60 seconds. Without a zone nothing of it is made.

locals {
  hosts = var.zone_id == null ? {} : { PRIMARY = var.primary_host, SECONDARY = var.secondary_host }
}

resource "aws_route53_health_check" "primary" {
  count             = var.zone_id == null ? 0 : 1
  fqdn              = var.primary_host
  type              = "HTTPS"
  port              = 443
  resource_path     = "/readyz"
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
  health_check_id = each.key == "PRIMARY" ? one(aws_route53_health_check.primary[*].id) : null

  failover_routing_policy {
    type = each.key
  }
}
