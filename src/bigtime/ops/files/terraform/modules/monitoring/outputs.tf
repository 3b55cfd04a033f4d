output "topic_arn" {
  description = "The ARN of the SNS topic."
  value       = aws_sns_topic.alerts.arn
}

output "alarm_names" {
  description = "The names of the alarms."
  value       = sort(concat(keys(local.plain), keys(local.by_operation)))
}
