import type { Place } from './differences.ts'

/**
 * What our service does not answer as the original yet: scenarios, or parts of answers, by what is missing. What is
 * answered must leave the list: the test fails on a scenario that passes and on a part that occurs no longer.
 */
export const pending: Record<string, { scenarios?: string[]; parts?: Place[] }> = {}
