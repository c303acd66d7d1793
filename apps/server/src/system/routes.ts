import type { ResponseInput } from '@crux/contract'
import type { Health } from '@crux/service-kit'
import type { Config } from '../config/index.ts'
import type { Handlers } from '../http/index.ts'
import { toHealth } from './status.ts'

export function systemHandlers(parts: {
  health: Health
  status: () => Promise<ResponseInput<'system.status'>>
  analytics: Config['analytics']
}): Handlers<'system.health' | 'system.status' | 'quality-assurance.get'> {
  return {
    'system.health': () => toHealth(parts.health),
    'system.status': () => parts.status(),
    // Existing clients request this on every page. They stay silent where `disabled` is true.
    'quality-assurance.get': async () =>
      parts.analytics ? { disabled: false, ...parts.analytics } : { disabled: true },
  }
}
