import { CruxError } from '@crux/contract'
import { getField } from '@crux/service-kit'

/**
 * Runs a statement that names a time zone of a caller.
 *
 * @throws CruxError invalidArgument `timeZone` where there is no such zone, here or in the database
 */
export async function withTimeZone<T>(timeZone: string, run: () => Promise<T>): Promise<T> {
  if (!isTimeZone(timeZone)) throw unknownZone(timeZone)
  try {
    return await run()
  } catch (error) {
    // This process knows the zone, but the database does not.
    if (getField(error, 'code') === '22023') throw unknownZone(timeZone)
    throw error
  }
}

/** Only names are accepted, because PostgreSQL reads an offset such as +01:00 with the opposite sign. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const unknownZone = (value: string) =>
  new CruxError('invalidArgument', {
    property: 'timeZone',
    value,
    description: 'There is no such time zone: use a name such as Europe/Berlin.',
  })
