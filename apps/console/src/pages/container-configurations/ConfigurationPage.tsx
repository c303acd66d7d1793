export function ConfigurationPage() {
  return null
}
