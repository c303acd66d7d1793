import { type Message, messages } from '../ui/messages.ts'
import { commonPasswords, commonWords } from './common-passwords.ts'

const passwordLength = { min: 8, max: 1024 }

/**
 * The problem of a new password, undefined when it may be used. Lengths count characters and not bytes.
 *
 * @param user the known data of the user, which attackers try first
 */
export function passwordProblem(password: string, user: { identifier: string; names?: string[] }): Message | undefined {
  const length = [...password].length
  if (length < passwordLength.min) return messages.passwordTooShort(passwordLength.min, length)
  if (length > passwordLength.max) return messages.passwordTooLong(passwordLength.max, length)
  const lower = password.toLowerCase()
  const { identifier, names = [] } = user
  if (isSimilar(lower, identifier.toLowerCase())) return messages.passwordTooSimilar()
  if (isMadeOf(lower, [identifier.split('@')[0] ?? '', ...names])) return messages.passwordTooPersonal()
  if (isCommon(lower)) return messages.passwordTooCommon()
  return undefined
}

/** Whether nothing but the words of a user is left after digits and signs are removed: "Ada-Byron-1815". */
function isMadeOf(password: string, words: string[]): boolean {
  const known = words
    .flatMap((word) => [word, ...word.split(/[^\p{L}\p{N}]+/u)])
    .map((word) => word.toLowerCase().replaceAll(/[^\p{L}]/gu, ''))
    .filter((word) => word.length >= 3)
    // Longer words come first, because shorter ones may be part of them.
    .sort((a, b) => b.length - a.length)
  const letters = password.replaceAll(/[^\p{L}]/gu, '')
  const left = known.reduce((rest, word) => rest.replaceAll(word, ''), letters)
  return left.length < letters.length && left.length < 3
}

/** A common password, a disguised one ("P@ssw0rd2026!"), or a sequence of keys on the keyboard. */
function isCommon(password: string): boolean {
  if (commonPasswords.has(password)) return true
  if (keyRuns.some((run) => run.includes(password))) return true
  const bare = password.replace(/^[^\p{L}]+/u, '').replace(/[\d\W_]+$/u, '')
  const plain = bare.replaceAll(/[013457@$!]/g, (sign) => disguises[sign] ?? sign)
  return commonWords.has(bare) || commonWords.has(plain)
}

const disguises: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

const keyRuns = [
  'abcdefghijklmnopqrstuvwxyz',
  '012345678901234567890',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.',
  '1q2w3e4r5t6y7u8i9o0p',
].flatMap((run) => [run, [...run].toReversed().join('')])

/** Fewer than five edits lead from one to the other, or more than half of the password is part of the identifier. */
function isSimilar(password: string, identifier: string): boolean {
  if (identifier === '') return false
  return editDistance(password, identifier) < 5 || longestCommonPart(password, identifier) > password.length / 2
}

/** Levenshtein distance with one row of the table in memory. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

function longestCommonPart(a: string, b: string): number {
  let longest = 0
  let row: number[] = []
  for (let i = 0; i < a.length; i++) {
    const next: number[] = []
    for (let j = 0; j < b.length; j++) {
      next[j] = a[i] === b[j] ? (row[j - 1] ?? 0) + 1 : 0
      longest = Math.max(longest, next[j] ?? 0)
    }
    row = next
  }
  return longest
}
