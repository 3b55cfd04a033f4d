terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

resource "aws_sns_topic" "alerts" {
  name = var.topic_name
  tags = var.tags
}

resource "aws_sns_topic_subscription" "email" {
  for_each  = toset(var.alert_emails)
  topic_arn = aws_sns_topic.alerts.arn
  protocol  = "email"
  endpoint  = each.value
}

locals {
  # One of each alarm for each table; those of replication once more for each region.
  pairs = flatten([
    for key, alarm in var.alarms : [
      for table in var.table_names : [
        for region in alarm.by == "region" ? var.replica_regions : [""] : {
          name   = join("-", compact([var.prefix, table, key, region]))
          alarm  = alarm
          table  = table
          region = region
        }
      ]
    ]
  ])
  plain        = { for pair in local.pairs : pair.name => pair if pair.alarm.by != "operation" }
  by_operation = { for pair in local.pairs : pair.name => pair if pair.alarm.by == "operation" }
}

resource "aws_cloudwatch_metric_alarm" "plain" {
  for_each = local.plain

  alarm_name          = each.key
  alarm_description   = each.value.alarm.action
  namespace           = "AWS/DynamoDB"
  metric_name         = each.value.alarm.metric
  statistic           = each.value.alarm.statistic
  period              = each.value.alarm.period
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.alarm.threshold
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alerts.arn]
  ok_actions          = [aws_sns_topic.alerts.arn]
  tags                = var.tags

  dimensions = merge(
    { TableName = each.value.table },
    each.value.region == "" ? {} : { ReceivingRegion = each.value.region },
  )
}

# DynamoDB reports these by table and operation: the alarm is on their sum.
resource "aws_cloudwatch_metric_alarm" "by_operation" {
  for_each = local.by_operation

  alarm_name          = each.key
  alarm_description   = each.value.alarm.action
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.alarm.threshold
  treat_missing_data  = "notBreaching"
  alarm_actions       = [aws_sns_topic.alerts.arn]
  ok_actions          = [aws_sns_topic.alerts.arn]
  tags                = var.tags

  metric_query {
    id          = "total"
    expression  = "SUM(METRICS())"
    label       = each.value.alarm.metric
    return_data = true
  }

  dynamic "metric_query" {
    for_each = var.operations

    content {
      id = "m${metric_query.key}"

      metric {
        namespace   = "AWS/DynamoDB"
        metric_name = each.value.alarm.metric
        stat        = each.value.alarm.statistic
        period      = each.value.alarm.period

        dimensions = {
          TableName = each.value.table
          Operation = metric_query.value
        }
      }
    }
  }
}
