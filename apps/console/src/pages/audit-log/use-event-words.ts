import { useTranslation } from 'react-i18next'
import { operationOf, plainOperation } from './entry.ts'

/** What an event says to a person: the words of its operation, else the operation spelled out. */
export function useEventWords(): (event: string) => string {
  const { i18n } = useTranslation('audit')
  return (event) => {
    const operation = operationOf(event)
    const key = `audit:event.${operation.replace('.', '_')}`
    return i18n.exists(key) ? i18n.t(key as 'audit:event.teams_create') : plainOperation(operation)
  }
}
