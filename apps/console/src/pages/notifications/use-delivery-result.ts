import { useTranslation } from 'react-i18next'
import type { Delivery } from './deliveries.ts'

/** Errors without an answer, as the server names them with spaces. */
const errors = [
  'timeout',
  'connection',
  'unknown-host',
  'certificate',
  'refused-address',
  'redirect',
  'too-long-an-answer',
  'unreadable-address',
  'unreadable-secret',
  'no-mail-server',
  'mail-server',
  'no-member',
  'unverified-address',
  'refused-recipient',
] as const

/** What the last attempt of a delivery met, in words. */
export function useDeliveryResult(): (delivery: Pick<Delivery, 'statusCode' | 'error'>) => string {
  const { t } = useTranslation('notifications')
  return ({ statusCode, error }) => {
    if (statusCode) return t(error === 'redirect' ? 'result.redirected' : 'result.answered', { code: statusCode })
    const known = errors.find((name) => name === error?.replaceAll(' ', '-'))
    // A kind that a newer server knows is shown as it is.
    return known ? t(`error.${known}`) : (error ?? '')
  }
}
