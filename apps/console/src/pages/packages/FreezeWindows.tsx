import type { ResponseOf } from '@crux/contract'
import { Plus, Snowflake } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied, useTeam } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { toMinute, type Window } from '../../forms/freeze-times.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { FreezeWindowRow } from './FreezeWindowRow.tsx'

const FreezeWindowForm = lazyComponent(
  async () => (await import('../../forms/freeze-window-form.tsx')).FreezeWindowForm,
)

type Props = { environment: ResponseOf<'packages.get-environment'> }

/** The times at which nothing is deployed to an environment. */
export function FreezeWindows({ environment }: Props) {
  const { t } = useTranslation('freeze')
  const { slug: teamSlug } = useTeam()
  const denied = useDenied('packages.create-freeze-window')
  const [layer, setLayer] = useState<Window | 'new' | null>(null)
  const { id: environmentId, package: of, node, prefix, freezeWindows = [], freeze } = environment
  const params = { teamSlug, packageId: of.id, environmentId }
  return (
    <Box
      label={t('title')}
      title={t('title')}
      trailing={freezeWindows.length > 0 && freezeWindows.length}
      actions={
        <Button size="sm" icon={Plus} disabledReason={denied} onClick={() => setLayer('new')}>
          {t('add')}
        </Button>
      }
    >
      <p className="px-3 pt-2.5 text-ink-2 wrap-anywhere">{t('text', { prefix, node: node.name })}</p>
      {freeze && (
        <p role="status" className="flex items-start gap-2 px-3 pt-2.5 font-strong wrap-anywhere">
          <Snowflake aria-hidden className="mt-0.5 text-progress" />
          {freeze.openEnded
            ? t('nowOpen', { reason: freeze.reason })
            : t('now', { time: toMinute(freeze.until), reason: freeze.reason })}
        </p>
      )}
      {freezeWindows.length === 0 ? (
        <p className="px-3 py-2.5">{t('none')}</p>
      ) : (
        <ul aria-label={t('title')} className="mt-2.5 divide-y divide-line border-t border-line">
          {freezeWindows.map((window) => (
            <FreezeWindowRow key={window.id} params={params} window={window} onEdit={() => setLayer(window)} />
          ))}
        </ul>
      )}
      {layer && (
        <FreezeWindowForm params={params} {...(layer !== 'new' && { window: layer })} onClose={() => setLayer(null)} />
      )}
    </Box>
  )
}
