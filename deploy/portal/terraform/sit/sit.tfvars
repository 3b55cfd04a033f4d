environment                 = "sit"
account                     = "815856636111"
region                      = "af-south-1"
pitr_days                   = 35
sse_enabled                 = true
deletion_protection_enabled = false
backup_vault                = "bbws-backup-vault-sit"
backup_plan                 = "bbws-dynamodb-sit-daily"
backup_rule                 = "daily_backup"
backup_selection            = "bbws-dynamodb-sit-selection"
backup_schedule             = "cron(0 2 * * ? *)"
backup_retention_days       = 14
alert_topic                 = "bbws-dynamodb-alerts-sit"
budget_dollars              = 1000
budget_alert_percent        = 80

tags = {
  Environment = "sit"
  Project     = "BBWS WP Containers"
  Owner       = "Tebogo"
  CostCenter  = "AWS"
  ManagedBy   = "Terraform"
  Component   = "dynamodb"
  Application = "CustomerPortalPublic"
}
