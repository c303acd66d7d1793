import type { Found } from './run.ts'

/** Places in recorded answers. `*` stands for anything. */
export interface Place {
  /** `topic: guarantee` */
  scenario: string
  step?: string
  /** Where in the answer, and everything within. */
  path: string
}

export interface Difference extends Place {
  /** What ours says there; anything else is a mistake. */
  here?: unknown
  reason: string
}

/** All that our service answers otherwise than the original, on purpose. The table of docs/identity.md says the same to people. */
export const differences: Difference[] = [
  {
    scenario: 'registration: a text as traits is refused',
    path: 'body',
    reason: 'the original fails with an error of its own (500 in the body); ours says what is wrong with the form',
  },
  {
    scenario: '*',
    path: 'body.active',
    reason:
      'which method was tried last is kept by the original in the flow, also when the attempt had another outcome',
  },
  {
    scenario: '*',
    path: '*publicKey.authenticatorSelection.authenticatorAttachment',
    reason: 'the original lets passkeys lie in the computer itself only; ours also in phones and on security keys',
  },
]

export function isAllowed(entry: Difference, scenario: string, found: Found): boolean {
  if (!isAt(entry, scenario, found)) return false
  return !('here' in entry) || JSON.stringify(entry.here) === JSON.stringify(found.seen)
}

export function isAt(place: Place, scenario: string, { step, path }: Found): boolean {
  return (
    matches(place.scenario, scenario) &&
    matches(place.step ?? '*', step) &&
    (matches(place.path, path) || matches(`${place.path}.*`, path))
  )
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}
