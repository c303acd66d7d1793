import type { ResponseInput } from '@crux/contract'
import type { Health } from '@crux/service-kit'
import type { Handlers } from '../http/index.ts'
import { toHealth } from './status.ts'

export function systemHandlers(parts: {
  health: Health
  status: () => Promise<ResponseInput<'system.status'>>
}): Handlers<'system.health' | 'system.status' | 'quality-assurance.get'> {
  return {
    'system.health': () => toHealth(parts.health),
    'system.status': () => parts.status(),
    // Existing clients request this on every page. There are no statistics, so there is nothing to opt out of.
    'quality-assurance.get': async () => ({ disabled: true }),
  }
}
