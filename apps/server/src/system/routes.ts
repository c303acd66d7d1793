import type { Answer } from '@crux/contract'
import type { Health } from '@crux/service-kit'
import type { Handlers } from '../http/handlers.ts'
import { healthOf } from './status.ts'

export function systemHandlers(parts: {
  health: Health
  status: () => Promise<Answer<'system.status'>>
}): Handlers<'system.health' | 'system.status'> {
  return {
    'system.health': () => healthOf(parts.health),
    'system.status': () => parts.status(),
  }
}
