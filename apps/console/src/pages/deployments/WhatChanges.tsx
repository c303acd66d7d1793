import type { ResponseOf } from '@crux/contract'
import { Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Preview } from './change-lines.ts'
import { GenerateSecrets } from './GenerateSecrets.tsx'
import { HostDangers } from './HostDangers.tsx'
import { InstanceChange } from './InstanceChange.tsx'
import { ProblemList } from './ProblemList.tsx'

type Props = {
  preview: Preview
  /** With it each problem and warning links to its field. */
  target?: { teamSlug: string; deployment: ResponseOf<'deployments.get'> }
}

/** The preview of a start: the problems to fix, then each container that changes, then what is removed and what is kept. */
export function WhatChanges({ preview, target }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { instances, problems } = preview
  const changing = instances.filter((instance) => instance.action !== 'keep' || (instance.warnings?.length ?? 0) > 0)
  const kept = instances.filter((instance) => instance.action === 'keep')
  return (
    <div className="divide-y divide-line">
      {target && <GenerateSecrets {...target} preview={preview} className="px-3 py-2.5" />}
      <ProblemList preview={preview} problems={problems} target={target} className="px-3 py-2.5" />
      <HostDangers preview={preview} />
      {changing.map((instance) => (
        <InstanceChange key={instance.instanceId} instance={instance} target={target} />
      ))}
      {preview.removed.map((name) => (
        <p key={name} className="flex items-start gap-2 px-3 py-2.5">
          <Trash2 aria-hidden className="mt-0.5 text-progress" />
          <span className="min-w-0 break-words">{t('changes.removed', { name })}</span>
        </p>
      ))}
      {kept.length > 0 && (
        <p className="px-3 py-2.5 break-words text-ink-2">
          {t('changes.kept', { count: kept.length, names: kept.map((instance) => instance.containerName).join(', ') })}
        </p>
      )}
    </div>
  )
}
