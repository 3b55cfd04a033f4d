terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws.copy]
    }
  }
}

resource "aws_backup_vault" "this" {
  name = var.vault_name
  tags = var.tags
}

resource "aws_backup_vault" "copy" {
  count    = var.copy_region == null ? 0 : 1
  provider = aws.copy
  name     = var.vault_name
  tags     = var.tags
}

# Without DynamoDB's advanced features a backup cannot be copied to another region.
resource "aws_backup_region_settings" "this" {
  count = var.copy_region == null ? 0 : 1

  resource_type_opt_in_preference     = var.resource_type_opt_in
  resource_type_management_preference = { DynamoDB = true }
}

resource "aws_backup_vault_lock_configuration" "this" {
  count              = var.lock_days == null ? 0 : 1
  backup_vault_name  = aws_backup_vault.this.name
  min_retention_days = var.lock_days
}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["backup.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "backup_role" {
  name               = "${var.plan_name}-role"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "backup" {
  role       = aws_iam_role.backup_role.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"
}

resource "aws_iam_role_policy_attachment" "restore" {
  role       = aws_iam_role.backup_role.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForRestores"
}

resource "aws_backup_plan" "this" {
  name = var.plan_name
  tags = var.tags

  rule {
    rule_name         = var.rule_name
    target_vault_name = aws_backup_vault.this.name
    schedule          = var.schedule
    start_window      = var.start_window
    completion_window = var.completion_window

    lifecycle {
      delete_after = var.delete_after
    }

    dynamic "copy_action" {
      for_each = aws_backup_vault.copy

      content {
        destination_vault_arn = copy_action.value.arn

        lifecycle {
          delete_after = var.delete_after
        }
      }
    }
  }

  depends_on = [aws_backup_region_settings.this]
}

resource "aws_backup_selection" "this" {
  name         = var.selection_name
  plan_id      = aws_backup_plan.this.id
  iam_role_arn = aws_iam_role.backup_role.arn
  resources    = var.table_arns
}
