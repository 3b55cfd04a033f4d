terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "= 5.100.0"
    }
  }

  # The bucket, key and region of the state are given to `terraform init`.
  backend "s3" {}
}

provider "aws" {
  region              = var.region
  allowed_account_ids = [var.account]
}

provider "aws" {
  alias               = "eu_west_1"
  region              = var.dr_region
  allowed_account_ids = [var.account]
}

module "tenants_gsi" {
  source = "../modules/gsi"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
    { name = "email", type = "S" },
    { name = "status", type = "S" },
    { name = "dateCreated", type = "S" },
    { name = "active", type = "S" },
  ]

  indexes = [
    { name = "EmailIndex", hash_key = "email", projection_type = "ALL" },
    { name = "TenantStatusIndex", hash_key = "status", range_key = "dateCreated", projection_type = "ALL" },
    { name = "ActiveIndex", hash_key = "active", range_key = "dateCreated", projection_type = "ALL" },
  ]
}

module "tenants" {
  source                      = "../modules/dynamodb_table"
  name                        = "tenants"
  hash_key                    = "PK"
  range_key                   = "SK"
  attributes                  = module.tenants_gsi.attributes
  global_secondary_indexes    = module.tenants_gsi.indexes
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "products_gsi" {
  source = "../modules/gsi"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
    { name = "active", type = "S" },
    { name = "dateCreated", type = "S" },
  ]

  indexes = [
    { name = "ProductActiveIndex", hash_key = "active", range_key = "dateCreated", projection_type = "ALL" },
    { name = "ActiveIndex", hash_key = "active", range_key = "dateCreated", projection_type = "ALL" },
  ]
}

module "products" {
  source                      = "../modules/dynamodb_table"
  name                        = "products"
  hash_key                    = "PK"
  range_key                   = "SK"
  attributes                  = module.products_gsi.attributes
  global_secondary_indexes    = module.products_gsi.indexes
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "campaigns_gsi" {
  source = "../modules/gsi"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
    { name = "active", type = "S" },
    { name = "fromDate", type = "S" },
    { name = "productId", type = "S" },
    { name = "dateCreated", type = "S" },
  ]

  indexes = [
    { name = "CampaignActiveIndex", hash_key = "active", range_key = "fromDate", projection_type = "ALL" },
    { name = "CampaignProductIndex", hash_key = "productId", range_key = "fromDate", projection_type = "ALL" },
    { name = "ActiveIndex", hash_key = "active", range_key = "dateCreated", projection_type = "ALL" },
  ]
}

module "campaigns" {
  source                      = "../modules/dynamodb_table"
  name                        = "campaigns"
  hash_key                    = "PK"
  range_key                   = "SK"
  attributes                  = module.campaigns_gsi.attributes
  global_secondary_indexes    = module.campaigns_gsi.indexes
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "orders_gsi" {
  source = "../modules/gsi"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
  ]

  indexes = []
}

module "orders" {
  source                      = "../modules/dynamodb_table"
  name                        = "orders"
  hash_key                    = "PK"
  range_key                   = "SK"
  attributes                  = module.orders_gsi.attributes
  global_secondary_indexes    = module.orders_gsi.indexes
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "audit_gsi" {
  source = "../modules/gsi"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
  ]

  indexes = []
}

module "audit" {
  source                      = "../modules/dynamodb_table"
  name                        = "audit"
  hash_key                    = "PK"
  range_key                   = "SK"
  attributes                  = module.audit_gsi.attributes
  global_secondary_indexes    = module.audit_gsi.indexes
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "codes_gsi" {
  source = "../modules/gsi"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
  ]

  indexes = []
}

module "codes" {
  source                      = "../modules/dynamodb_table"
  name                        = "codes"
  hash_key                    = "PK"
  range_key                   = "SK"
  attributes                  = module.codes_gsi.attributes
  global_secondary_indexes    = module.codes_gsi.indexes
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  ttl_attribute               = "expiresAt"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "writers" {
  source    = "../modules/dynamodb_table"
  name      = "Writers"
  hash_key  = "PK"
  range_key = "SK"

  attributes = [
    { name = "PK", type = "S" },
    { name = "SK", type = "S" },
  ]

  global_secondary_indexes    = []
  stream_enabled              = true
  stream_view_type            = "NEW_AND_OLD_IMAGES"
  pitr_days                   = var.pitr_days
  sse_enabled                 = var.sse_enabled
  kms_key_arn                 = var.kms_key_arn
  deletion_protection_enabled = var.deletion_protection_enabled
  replica_regions             = var.dr_region == null ? [] : [var.dr_region]
  tags                        = var.tags
}

module "backup" {
  source         = "../modules/backup"
  vault_name     = var.backup_vault
  plan_name      = var.backup_plan
  rule_name      = var.backup_rule
  selection_name = var.backup_selection
  schedule       = var.backup_schedule
  delete_after   = var.backup_retention_days
  table_arns     = [module.tenants.arn, module.products.arn, module.campaigns.arn, module.orders.arn, module.audit.arn]
  copy_region    = var.dr_region
  tags           = var.tags

  providers = {
    aws        = aws
    "aws.copy" = aws.eu_west_1
  }
}

module "monitoring" {
  source               = "../modules/monitoring"
  prefix               = "bbws-dynamodb-prod"
  topic_name           = var.alert_topic
  table_names          = [module.tenants.name, module.products.name, module.campaigns.name, module.orders.name, module.audit.name, module.codes.name]
  replica_regions      = var.dr_region == null ? [] : [var.dr_region]
  account_id           = var.account
  budget_dollars       = var.budget_dollars
  budget_alert_percent = var.budget_alert_percent
  alert_emails         = var.alert_emails
  anomaly_detection    = var.anomaly_detection
  zone_id              = var.zone_id
  host                 = var.host
  primary_host         = var.primary_host
  secondary_host       = var.secondary_host
  tags                 = var.tags

  alarms = {
    "read-capacity" = {
      metric    = "ConsumedReadCapacityUnits"
      statistic = "Sum"
      period    = 60
      threshold = 10000
      by        = "table"
      action    = "Investigate read patterns, consider caching."
    }
    "write-capacity" = {
      metric    = "ConsumedWriteCapacityUnits"
      statistic = "Sum"
      period    = 60
      threshold = 5000
      by        = "table"
      action    = "Investigate write patterns, batch operations."
    }
    throttled = {
      metric    = "ThrottledRequests"
      statistic = "Sum"
      period    = 300
      threshold = 10
      by        = "operation"
      action    = "Look for a hot key, and retry with jitter: tables on demand are throttled by partition."
    }
    "system-errors" = {
      metric    = "SystemErrors"
      statistic = "Sum"
      period    = 300
      threshold = 5
      by        = "operation"
      action    = "Investigate DynamoDB issues, check AWS status."
    }
    "replication-latency" = {
      metric    = "ReplicationLatency"
      statistic = "Average"
      period    = 60
      threshold = 5000
      by        = "region"
      action    = "Investigate network issues, check AWS status."
    }
  }
}
