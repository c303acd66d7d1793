import { useTranslation } from 'react-i18next'
import type { Delivery } from './deliveries.ts'

/** What the last attempt of a delivery met, in words. */
export function useDeliveryResult(): (delivery: Pick<Delivery, 'statusCode' | 'error'>) => string {
  const { t, i18n } = useTranslation('notifications')
  return ({ statusCode, error }) => {
    if (!error) return statusCode ? t('result.answered', { code: statusCode }) : ''
    if (statusCode) return t(error === 'redirect' ? 'result.redirected' : 'result.answered', { code: statusCode })
    const key = `notifications:error.${error.replaceAll(' ', '-')}`
    // A kind that a newer server knows is shown as it is.
    return i18n.exists(key) ? i18n.t(key as 'notifications:error.timeout') : error
  }
}
