import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Eraser, PackagePlus } from 'lucide-react'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useDeniedPart, useMe, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonCards, SkeletonPage } from '../../components/Skeletons.tsx'
import { emptyDraft, isEmptyDraft } from '../../composer/composer-draft.ts'
import { findGenerateBlocker } from '../../composer/generate-blocker.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { ChooseFiles } from './ChooseFiles.tsx'
import { ComposeFiles } from './ComposeFiles.tsx'
import { ComposeProblems } from './ComposeProblems.tsx'
import { ComposerEmpty } from './ComposerEmpty.tsx'
import { ComposerSections } from './ComposerSections.tsx'
import { DropFiles } from './DropFiles.tsx'
import { EnvFileCard } from './EnvFileCard.tsx'
import { ReadingNote, RunnerNote } from './RunnerNote.tsx'
import { useComposer } from './use-composer.ts'
import { useJump } from './use-jump.ts'

const GenerateSheet = lazyComponent(async () => (await import('./GenerateSheet.tsx')).GenerateSheet)

const route = getRouteApi('/app/composer')

/** A compose file becomes a version of a project of the current team. */
export function ComposerPage() {
  const me = useMe()
  // The draft belongs to the user, who is known a moment after the page.
  return me ? <Composer userId={me.user.id} /> : <SkeletonPage />
}

function Composer({ userId }: { userId: string }) {
  const { t } = useTranslation(['composer', 'common'])
  const team = useTeam()
  const { section = 'containers', project } = route.useSearch()
  const registries = useQuery(apiQuery('registries.list', { params: { teamSlug: team.slug } }))
  const composer = useComposer(userId, registries.data)
  const { draft, setDraft, result, status } = composer
  const [generating, setGenerating] = useState(false)
  const [showsEnv, setShowsEnv] = useState(true)
  const jump = useJump(draft, section)
  const denied = useDenied('versions.import')
  const isAdmin = useDeniedPart('container-configurations.host-dangerous') === null
  const blocker = findGenerateBlocker(result, { isReady: status === 'ready', isAdmin })
  const blockedBecause = blocker && t(`blocked.${blocker.reason}`, 'count' in blocker ? { count: blocker.count } : {})
  const isEmpty = isEmptyDraft(draft)
  const closeGenerate = useCallback(() => setGenerating(false), [])
  const [defaultEnv] = draft.envFiles
  const clear = async () => {
    const question = { title: t('clear.title'), text: t('clear.text'), action: t('clear.action'), danger: true }
    if (await confirm(question)) setDraft(emptyDraft())
  }
  const showsDefaultEnv = showsEnv && section !== 'environment' && defaultEnv
  return (
    <DropFiles draft={draft} onChange={setDraft}>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle', { team: team.name })}
        mark={status === 'slow' && <ReadingNote />}
        actions={
          <>
            {!isEmpty && (
              <Button icon={Eraser} onClick={() => void clear()}>
                {t('clear.action')}
              </Button>
            )}
            <ChooseFiles draft={draft} onChange={setDraft} />
            <Button
              variant="main"
              icon={PackagePlus}
              disabledReason={denied ?? blockedBecause}
              onClick={() => setGenerating(true)}
            >
              {t('generate')}
            </Button>
          </>
        }
      />
      <div className="grid gap-4">
        {isEmpty && <ComposerEmpty draft={draft} onChange={setDraft} />}
        <div
          className={
            showsDefaultEnv
              ? 'grid items-start gap-4 min-[1100px]:grid-cols-[minmax(0,1.7fr)_minmax(0,1fr)]'
              : 'grid min-w-0'
          }
        >
          <ComposeFiles
            draft={draft}
            onChange={setDraft}
            problems={result?.problems ?? noProblems}
            target={jump.target}
            showsEnv={showsEnv}
            onShowEnv={section === 'environment' ? undefined : setShowsEnv}
          />
          {showsDefaultEnv && (
            <EnvFileCard
              draft={draft}
              file={defaultEnv}
              onChange={setDraft}
              problems={result?.problems ?? noProblems}
              target={jump.target}
            />
          )}
        </div>
        <RunnerNote status={status} isStored={composer.isStored} retry={composer.retry} />
        <ComposeProblems problems={result?.problems ?? noProblems} onJump={jump.to} />
        <QueryView query={registries} skeleton={<SkeletonCards cards={3} />} isEmpty={() => false}>
          {() => (
            <ComposerSections
              section={section}
              project={project}
              draft={draft}
              onChange={setDraft}
              result={result}
              target={jump.target}
              onJump={jump.to}
            />
          )}
        </QueryView>
      </div>
      {generating && result && !denied && (
        <GenerateSheet
          teamSlug={team.slug}
          projectId={project}
          services={result.services}
          blockedBecause={blockedBecause}
          onClose={closeGenerate}
        />
      )}
    </DropFiles>
  )
}

const noProblems: never[] = []
