import type { Container } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { StateMark } from '../../components/State.tsx'
import { statusStyle } from '../../components/status-styles.ts'
import {
  containerAppearance,
  engineStatusText,
  isFailing,
  isForeign,
  isScaledToZero,
  type PendingOperation,
} from './containers.ts'

type Props = { container: Container; busy?: PendingOperation['operation']; stoppedBy?: string }

export function ContainerState({ container, busy, stoppedBy }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  if (busy) return <StateMark appearance={statusStyle('phase', 'running')} label={t(`containers.busy.${busy}`)} />
  const { appearance, exitCode } = containerAppearance(container, stoppedBy !== undefined)
  const word = stoppedBy
    ? t('containers.stoppedBy', { name: stoppedBy })
    : isScaledToZero(container)
      ? t('containers.stopped')
      : exitCode === null
        ? t(`common:state.container.${container.state ?? 'unknown'}`)
        : t('containers.exited', { code: exitCode })
  return <StateMark appearance={appearance} label={word} reason={container.status ?? undefined} />
}

const healthLabels = ['healthy', 'unhealthy', 'starting'] as const

/** A word that the engine may add one day is shown as it is. */
function healthWord(health: string, t: ReturnType<typeof useTranslation<['nodes', 'common']>>['t']): string {
  const known = healthLabels.find((word) => word === health)
  if (known) return t(`containers.healthWord.${known}`)
  return health === 'none' ? '' : health
}

export function Health({ container }: { container: Container }) {
  const { t } = useTranslation(['nodes', 'common'])
  const health = container.state !== 'running' ? null : healthWord(container.health ?? '', t)
  if (isForeign(container)) return <span className="text-ink-3">{t('containers.others')}</span>
  const restarts = container.restartCount ? t('containers.restarts', { count: container.restartCount }) : null
  const parts = [engineStatusText(container) ?? health, restarts].filter(Boolean)
  if (parts.length === 0)
    return (
      <span data-no-value className="text-ink-3">
        -
      </span>
    )
  const text = parts.join(', ')
  return (
    <span title={text} className={isFailing(container) ? undefined : 'text-ink-2'}>
      {text}
    </span>
  )
}
