import type { ResponseOf } from '@crux/contract'
import { KeyRound } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Copyable } from '../../components/Copyable.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'

type MissingRight = NonNullable<ResponseOf<'nodes.machines'>['missingRight']>

/** The agent of an earlier installation, or one that is limited to some namespaces: how it gets the right to list machines. */
export function MissingMachineRight({ missingRight }: { missingRight: MissingRight }) {
  const { t } = useTranslation('nodes')
  const denied = useDenied('nodes.update')
  const { agentNamespace, description } = missingRight
  return (
    <div className="grid gap-4">
      <EmptyState
        icon={KeyRound}
        title={t('machines.rightTitle')}
        text={denied ? t('machines.rightAsk') : t('machines.rightText', { reason: description })}
      />
      {!denied && agentNamespace && (
        <div className="grid gap-2">
          <p className="text-ink-2">{t('machines.rightHow')}</p>
          <Copyable label={t('machines.rightCommand')} text={toCommand(agentNamespace)} />
        </div>
      )}
    </div>
  )
}

const toCommand = (namespace: string): string =>
  [
    'kubectl create clusterrole crux-machines --verb=list --resource=nodes',
    `kubectl create clusterrolebinding crux-machines-${namespace} --clusterrole=crux-machines --serviceaccount=${namespace}:crux-agent`,
  ].join('\n')
