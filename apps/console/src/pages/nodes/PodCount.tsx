import type { Container } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { countPods } from './pods.ts'

/** "2 of 3 ready", or only how many pods there are. */
export function PodCount({ container }: { container: Container }) {
  const { t } = useTranslation('nodes')
  const { ready, total } = countPods(container)
  return ready === undefined ? t('pods.count', { count: total }) : t('pods.ready', { ready, total })
}
