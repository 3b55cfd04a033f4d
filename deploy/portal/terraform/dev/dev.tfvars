environment                 = "dev"
account                     = "536580886816"
region                      = "af-south-1"
pitr_days                   = 35
sse_enabled                 = true
deletion_protection_enabled = false
backup_vault                = "bbws-backup-vault-dev"
backup_plan                 = "bbws-dynamodb-dev-daily"
backup_rule                 = "daily_backup"
backup_selection            = "bbws-dynamodb-dev-selection"
backup_schedule             = "cron(0 1 * * ? *)"
backup_retention_days       = 7
alert_topic                 = "bbws-dynamodb-alerts-dev"
budget_dollars              = 500
budget_alert_percent        = 80

tags = {
  Environment = "dev"
  Project     = "BBWS WP Containers"
  Owner       = "Tebogo"
  CostCenter  = "AWS"
  ManagedBy   = "Terraform"
  Component   = "dynamodb"
  Application = "CustomerPortalPublic"
}
