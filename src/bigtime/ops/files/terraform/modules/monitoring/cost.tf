resource "aws_budgets_budget" "this" {
  count        = var.budget_dollars == null ? 0 : 1
  account_id   = var.account_id
  name         = "${var.prefix}-monthly"
  budget_type  = "COST"
  time_unit    = "MONTHLY"
  limit_amount = tostring(var.budget_dollars)
  limit_unit   = "USD"

  cost_filter {
    name   = "Service"
    values = ["Amazon DynamoDB", "AWS Backup"]
  }

  notification {
    comparison_operator        = "GREATER_THAN"
    threshold                  = var.budget_alert_percent
    threshold_type             = "PERCENTAGE"
    notification_type          = "ACTUAL"
    subscriber_sns_topic_arns  = [aws_sns_topic.alerts.arn]
    subscriber_email_addresses = var.alert_emails
  }
}

# AWS compares with its own forecast. The rule of 150 % of the last seven days is in the alarms of
# the application, which knows what it used.
resource "aws_ce_anomaly_monitor" "this" {
  count             = var.anomaly_detection ? 1 : 0
  name              = "${var.prefix}-services"
  monitor_type      = "DIMENSIONAL"
  monitor_dimension = "SERVICE"
}

resource "aws_ce_anomaly_subscription" "this" {
  count            = var.anomaly_detection && length(var.alert_emails) > 0 ? 1 : 0
  name             = "${var.prefix}-anomalies"
  frequency        = "DAILY"
  monitor_arn_list = aws_ce_anomaly_monitor.this[*].arn

  threshold_expression {
    dimension {
      key           = "ANOMALY_TOTAL_IMPACT_PERCENTAGE"
      match_options = ["GREATER_THAN_OR_EQUAL"]
      values        = ["50"]
    }
  }

  dynamic "subscriber" {
    for_each = var.alert_emails

    content {
      type    = "EMAIL"
      address = subscriber.value
    }
  }
}
