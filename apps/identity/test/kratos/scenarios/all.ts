import type { Scenario } from '../service.ts'
import { admin } from './admin.ts'
import { codes } from './codes.ts'
import { factors } from './factors.ts'
import { keys } from './keys.ts'
import { login } from './login.ts'
import { recovery } from './recovery.ts'
import { registration } from './registration.ts'
import { sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { transport } from './transport.ts'
import { verification } from './verification.ts'

const topics: Record<string, Record<string, Scenario>> = {
  registration,
  login,
  verification,
  recovery,
  settings,
  codes,
  factors,
  keys,
  sessions,
  transport,
  admin,
}

/** Every scenario by `topic: guarantee`. */
export const scenarios: Record<string, Scenario> = Object.fromEntries(
  Object.entries(topics).flatMap(([topic, its]) =>
    Object.entries(its).map(([name, scenario]) => [`${topic}: ${name}`, scenario]),
  ),
)
