import { limits } from './limits.ts'

/** The value of a variable, or undefined if it is not set. */
export type Lookup = (name: string) => string | undefined

export type Substitution = {
  text: string
  /** Variables without a value that became empty text. */
  unset: string[]
  /** What is wrong, as a sentence; the text is then empty. */
  problem?: string
}

type State = { lookup: Lookup; unset: Set<string>; length: number }

/** A text cannot be substituted; the message is for the user. */
class SubstitutionError extends Error {}

/**
 * Inserts variables as the Compose Specification says: `$VAR`, `${VAR}`, `${VAR:-default}`, `${VAR-default}`, `${VAR:?error}`, `${VAR?error}`,
 * `${VAR:+replacement}`, `${VAR+replacement}`, and `$$` for a dollar sign. Defaults, errors and replacements may contain variables.
 */
export function substitute(text: string, lookup: Lookup): Substitution {
  if (!text.includes('$')) return { text, unset: [] }
  const state: State = { lookup, unset: new Set(), length: 0 }
  try {
    return { text: expand(text, state, 0), unset: [...state.unset] }
  } catch (error) {
    if (error instanceof SubstitutionError) return { text: '', unset: [...state.unset], problem: error.message }
    throw error
  }
}

const nameAt = /[a-zA-Z_][a-zA-Z0-9_]*/y

function readName(text: string, at: number): string | undefined {
  nameAt.lastIndex = at
  return nameAt.exec(text)?.[0]
}

function expand(text: string, state: State, depth: number): string {
  if (depth > limits.nestedDefaults)
    throw new SubstitutionError(
      `Variables are nested more than ${limits.nestedDefaults} levels deep. Give some of them their own value in .env.`,
    )
  const parts: string[] = []
  const push = (part: string) => {
    state.length += part.length
    if (state.length > limits.valueLength)
      throw new SubstitutionError(
        'With its variables inserted, the value is longer than 64 KiB. Shorten the variables.',
      )
    parts.push(part)
  }
  let at = 0
  while (at < text.length) {
    const dollar = text.indexOf('$', at)
    if (dollar < 0) break
    if (dollar > at) push(text.slice(at, dollar))
    const next = text[dollar + 1]
    const name = readName(text, dollar + 1)
    if (next === '$') {
      push('$')
      at = dollar + 2
    } else if (next === '{') {
      const end = findClosingBrace(text, dollar + 1)
      // What an expression inserts has been counted while it was expanded.
      parts.push(expandBraces(text.slice(dollar + 2, end), state, depth))
      at = end + 1
    } else if (name !== undefined) {
      push(getVariable(name, state))
      at = dollar + 1 + name.length
    } else {
      // A dollar sign before anything else stays, as in `$1`.
      push('$')
      at = dollar + 1
    }
  }
  if (at < text.length) push(text.slice(at))
  return parts.join('')
}

function findClosingBrace(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  throw new SubstitutionError(
    `A variable has no closing brace. Write \${NAME}, or $$ for a dollar sign that is meant as such.`,
  )
}

function getVariable(name: string, state: State): string {
  const value = state.lookup(name)
  if (value === undefined) state.unset.add(name)
  return value ?? ''
}

/** The content of the braces: a name, then nothing or an operator with its operand. */
function expandBraces(content: string, state: State, depth: number): string {
  const name = readName(content, 0)
  const [, colon, operator] = /^(:?)([-+?])/.exec(content.slice(name?.length ?? 0)) ?? []
  if (name === undefined || (operator === undefined && name.length < content.length))
    throw new SubstitutionError(
      `"\${${content.slice(0, 40)}}" is no variable. Write \${NAME}, or $$ for a dollar sign that is meant as such.`,
    )
  const count = (value: string) => {
    state.length += value.length
    if (state.length > limits.valueLength)
      throw new SubstitutionError(
        'With its variables inserted, the value is longer than 64 KiB. Shorten the variables.',
      )
    return value
  }
  if (operator === undefined) return count(getVariable(name, state))
  const operand = content.slice(name.length + (colon?.length ?? 0) + 1)
  const value = state.lookup(name)
  const isSet = value !== undefined && (!colon || value !== '')
  if (operator === '+') return isSet ? expand(operand, state, depth + 1) : ''
  if (isSet) return count(value)
  if (operator === '-') return expand(operand, state, depth + 1)
  const reason = expand(operand, state, depth + 1)
  throw new SubstitutionError(
    `The variable ${name} is required${reason === '' ? '' : `: ${reason}`}. Set it in the default .env file.`,
  )
}
