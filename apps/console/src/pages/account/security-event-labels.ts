import i18n from 'i18next'
import type { SecurityEvent } from '../../api/identity.ts'
import { authMethodLabels } from './auth-method-labels.ts'

/** An entry of the security log as a sentence; an unknown event is shown by its name. */
export function securityEventLabels({ event, details }: SecurityEvent): string {
  const key = `account:log.event.${event}`
  if (!i18n.exists(key, { ...details })) return event
  return i18n.t(key as 'account:log.event.signed-in', { ...details, way: authMethodLabels([details]) })
}
