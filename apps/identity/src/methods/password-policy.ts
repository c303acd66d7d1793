import { type Message, messages } from '../flows/messages.ts'
import { commonPasswords } from './common-passwords.ts'

const passwordLength = { min: 8, max: 1024 }

/** What is wrong with a new password, undefined when it may be used. Lengths count characters, as people do. */
export function passwordProblem(password: string, identifier: string): Message | undefined {
  const length = [...password].length
  if (length < passwordLength.min) return messages.passwordTooShort(passwordLength.min, length)
  if (length > passwordLength.max) return messages.passwordTooLong(passwordLength.max, length)
  if (isSimilar(password.toLowerCase(), identifier.toLowerCase())) return messages.passwordTooSimilar()
  if (commonPasswords.has(password.toLowerCase())) return messages.passwordTooCommon()
  return undefined
}

/** Fewer than five changes lead from one to the other, or more than half of the password stands in the identifier. */
function isSimilar(password: string, identifier: string): boolean {
  if (identifier === '') return false
  return editDistance(password, identifier) < 5 || longestCommonPart(password, identifier) > password.length / 2
}

/** Levenshtein distance by one row of the table at a time. */
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
