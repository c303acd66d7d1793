import { textAt, valueAt } from '../../api/unknown-data.ts'

/** The flow whose code was already mailed for a change; another flow would send a second mail. */
export function getVerificationFlow(answer: unknown): string | undefined {
  const next = valueAt(answer, 'continue_with')
  if (!Array.isArray(next)) return undefined
  return textAt(
    next.find((step) => valueAt(step, 'action') === 'show_verification_ui'),
    'flow',
    'id',
  )
}
