import type { Step } from '@crux/config-editor'
import { useNavigate } from '@tanstack/react-router'
import { GitCompareArrows, History, Redo2, Rocket, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../../components/Button.tsx'
import { Chips } from '../../../components/Chips.tsx'
import { ActionMenu } from '../../../components/Menu.tsx'
import { SaveIndicator } from '../../../components/SaveIndicator.tsx'
import { lazyComponent } from '../../../loading/lazy-component.tsx'
import { links } from '../../../routing/links.ts'
import { useConfigForm } from '../form/config-context.ts'
import { useSecretValues } from '../secrets/use-secret-values.tsx'
import type { useConfigDraft } from './use-config-draft.ts'

const HistorySheet = lazyComponent(async () => (await import('../history/HistorySheet.tsx')).HistorySheet)
const CompareDialog = lazyComponent(async () => (await import('../history/CompareDialog.tsx')).CompareDialog)

export type View = 'form' | 'json' | 'final'
type Props = {
  draft: ReturnType<typeof useConfigDraft>
  deploymentId: string | undefined
  view: View
  onView: (view: View) => void
}

/** What is done with a configuration as a whole. */
export function HeadTools({ draft, deploymentId, view, onView }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const navigate = useNavigate()
  const { teamSlug, readOnly } = useConfigForm()
  const secrets = useSecretValues()
  const [open, setOpen] = useState<'history' | 'compare' | null>(null)
  const [back, again] = [draft.history.done.at(-1), draft.history.undone.at(-1)]
  const what = (step: Step) => step.changes.map(({ field }) => field).join(', ')
  return (
    <>
      <span className="flex-none!">
        <SaveIndicator status={draft.state === 'saved' && secrets.dirty ? 'typed' : draft.state} />
      </span>
      <span className="flex flex-none!">
        <IconButton
          icon={Undo2}
          label={back ? t('undo.undoWhat', { what: what(back) }) : t('undo.undo')}
          disabledReason={readOnly ?? (!back && t('undo.nothing'))}
          onClick={draft.undo}
        />
        <IconButton
          icon={Redo2}
          label={again ? t('undo.redoWhat', { what: what(again) }) : t('undo.redo')}
          disabledReason={readOnly ?? (!again && t('undo.nothingAgain'))}
          onClick={draft.redo}
        />
      </span>
      <Chips<View>
        label={t('head.view')}
        value={view}
        onChange={onView}
        options={[
          { value: 'form', label: t('head.form') },
          { value: 'json', label: t('head.json') },
          ...(deploymentId ? [{ value: 'final' as const, label: t('head.final') }] : []),
        ]}
      />
      <ActionMenu
        actions={[
          { id: 'history', label: t('history.open'), icon: History, run: () => setOpen('history') },
          { id: 'compare', label: t('compare.open'), icon: GitCompareArrows, run: () => setOpen('compare') },
        ]}
      />
      {deploymentId && (
        <Button
          variant="main"
          icon={Rocket}
          disabledReason={draft.state === 'held' && t('head.unsaved')}
          onClick={() => void navigate(links.deployment(teamSlug, deploymentId))}
        >
          {t('head.review')}
        </Button>
      )}
      {open === 'history' && <HistorySheet revision={draft.revision} onClose={() => setOpen(null)} />}
      {open === 'compare' && <CompareDialog onClose={() => setOpen(null)} />}
    </>
  )
}
