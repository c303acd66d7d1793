type Next = { action?: unknown; flow?: { id?: unknown } }

/** The flow whose code was already mailed for a change; another flow would send a second mail. */
export function verificationFlowOf(answer: unknown): string | undefined {
  const next = (answer as { continue_with?: Next[] | null } | undefined)?.continue_with ?? []
  const id = next.find(({ action }) => action === 'show_verification_ui')?.flow?.id
  return typeof id === 'string' ? id : undefined
}
