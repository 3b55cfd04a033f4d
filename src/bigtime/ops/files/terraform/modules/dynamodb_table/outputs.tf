output "name" {
  description = "The name of the table."
  value       = aws_dynamodb_table.this.name
}

output "arn" {
  description = "The ARN of the table."
  value       = aws_dynamodb_table.this.arn
}

output "stream_arn" {
  description = "The ARN of its stream."
  value       = aws_dynamodb_table.this.stream_arn
}

output "index_arns" {
  description = "The ARNs of its indexes by name."
  value = {
    for index in var.global_secondary_indexes :
    index.name => "${aws_dynamodb_table.this.arn}/index/${index.name}"
  }
}
