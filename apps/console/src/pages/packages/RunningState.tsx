import { useTranslation } from 'react-i18next'
import { StateMark } from '../../components/State.tsx'
import { statusStyle } from '../../components/status-styles.ts'
import type { BoardEnvironment } from './board.ts'

/** Of a node that is not connected it is only known what ran when it was. */
export function RunningState({ node }: { node: Pick<BoardEnvironment['node'], 'name' | 'status'> }) {
  const { t } = useTranslation('packages')
  if (node.status === 'unreachable')
    return (
      <StateMark
        appearance={statusStyle('container', 'unknown')}
        label={t('board.unknown')}
        reason={t('board.unknownReason', { node: node.name })}
      />
    )
  return <StateMark appearance={statusStyle('container', 'running')} label={t('board.runs')} />
}
