import type { Scenario } from '../world.ts'
import { login } from './login.ts'
import { registration } from './registration.ts'

const topics: Record<string, Record<string, Scenario>> = { registration, login }

/** Every scenario by `topic: guarantee`. */
export const scenarios: Record<string, Scenario> = Object.fromEntries(
  Object.entries(topics).flatMap(([topic, its]) =>
    Object.entries(its).map(([name, scenario]) => [`${topic}: ${name}`, scenario]),
  ),
)
