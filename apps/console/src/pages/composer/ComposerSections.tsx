import type { SourcePosition } from '@crux/compose'
import { CircleOff, Container, Plus, SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Tab, Tabs } from '../../components/Tabs.tsx'
import type { ComposeResult } from '../../composer/compose-result.ts'
import { addFile, type ComposerDraft, filesMax } from '../../composer/composer-draft.ts'
import { type ComposerSection, links } from '../../routing/links.ts'
import { EnvFileCard } from './EnvFileCard.tsx'
import { NotKeptLines } from './NotKeptLines.tsx'
import { ServiceCards } from './ServiceCards.tsx'
import type { JumpTarget } from './use-jump.ts'

type Props = {
  section: ComposerSection
  /** The project that the version will belong to, if the page was opened from one. */
  project: string | undefined
  draft: ComposerDraft
  onChange: (update: (draft: ComposerDraft) => ComposerDraft) => void
  result: ComposeResult | null
  target: JumpTarget | null
  onJump: (position: SourcePosition) => void
}

/** What the files become: containers, the `.env` files, and what a version cannot hold. */
export function ComposerSections({ section, project, draft, onChange, result, target, onJump }: Props) {
  const { t } = useTranslation('composer')
  const services = result?.services ?? []
  const notKept = result?.notKept ?? []
  const tab = (id: ComposerSection) => ({ ...links.composer({ section: id, project }), selected: section === id })
  return (
    <div className="min-w-0">
      <Tabs label={t('tabs.label')}>
        <Tab {...tab('containers')} icon={Container} count={services.length} resetScroll={false}>
          {t('tabs.containers')}
        </Tab>
        <Tab {...tab('environment')} icon={SlidersHorizontal} count={draft.envFiles.length} resetScroll={false}>
          {t('tabs.environment')}
        </Tab>
        <Tab {...tab('not-kept')} icon={CircleOff} count={notKept.length} resetScroll={false}>
          {t('tabs.notKept')}
        </Tab>
      </Tabs>
      {section === 'containers' && <ServiceCards result={result} onJump={onJump} />}
      {section === 'environment' && (
        <EnvFiles draft={draft} onChange={onChange} problems={result?.problems ?? noProblems} target={target} />
      )}
      {section === 'not-kept' &&
        (notKept.length > 0 ? (
          <Box label={t('tabs.notKept')}>
            <NotKeptLines notKept={notKept} onJump={onJump} />
          </Box>
        ) : (
          <EmptyState icon={CircleOff} title={t('notKept.empty')} text={t('notKept.emptyText')} />
        ))}
    </div>
  )
}

const noProblems: never[] = []

type EnvFilesProps = Pick<Props, 'draft' | 'onChange' | 'target'> & { problems: ComposeResult['problems'] }

function EnvFiles({ draft, onChange, problems, target }: EnvFilesProps) {
  const { t } = useTranslation('composer')
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-72 text-ink-2">{t('env.text')}</p>
        <Button
          icon={Plus}
          disabledReason={draft.envFiles.length >= filesMax && t('files.tooMany', { count: filesMax })}
          onClick={() => onChange((before) => addFile(before, 'envFiles').draft)}
        >
          {t('env.add')}
        </Button>
      </div>
      <div className="grid gap-4 min-[1100px]:grid-cols-2">
        {draft.envFiles.map((file) => (
          <EnvFileCard
            key={file.id}
            draft={draft}
            file={file}
            onChange={onChange}
            problems={problems}
            target={target}
          />
        ))}
      </div>
    </>
  )
}
