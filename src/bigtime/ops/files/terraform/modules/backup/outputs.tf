output "vault_arn" {
  description = "The ARN of the vault."
  value       = aws_backup_vault.this.arn
}

output "copy_vault_arn" {
  description = "The ARN of the vault in the other region, or null."
  value       = one(aws_backup_vault.copy[*].arn)
}

output "plan_id" {
  description = "The id of the plan."
  value       = aws_backup_plan.this.id
}

output "role_arn" {
  description = "The ARN of the role that takes and restores backups."
  value       = aws_iam_role.backup_role.arn
}
