import { z } from 'zod'

/** A new password. The identity service has the same limits, and refuses also what is easy to guess. */
export const newPassword = z.string().min(8).max(1_024)
