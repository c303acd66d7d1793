import { useTranslation } from 'react-i18next'
import type { Delivery } from './deliveries.ts'

/** What the last attempt of a delivery met, in words. */
export function useDeliveryResult(): (delivery: Pick<Delivery, 'statusCode' | 'error'>) => string {
  const { t, i18n } = useTranslation('notifications')
  return ({ statusCode, error }) => {
    if (!error) return statusCode ? t('result.answered', { code: statusCode }) : ''
    const key = `notifications:error.${error}`
    // A kind that a newer server knows is shown as it is.
    const text = i18n.exists(key) ? i18n.t(key as 'notifications:error.timeout') : error
    return statusCode ? t('result.answered', { code: statusCode }) : text
  }
}
