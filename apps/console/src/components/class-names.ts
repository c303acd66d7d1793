/** Joins class names and leaves out what is false, so that conditions read inline. */
export const cx = (...names: (string | false | null | undefined)[]): string => names.filter(Boolean).join(' ')
