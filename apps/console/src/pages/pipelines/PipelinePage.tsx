import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { useRemoval } from '../../api/use-removal.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { DetailsHead } from '../../components/DetailsHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { PipelineInputList } from '../../forms/pipeline-input-list.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { EventWatchers } from './EventWatchers.tsx'
import { PipelineFacts } from './PipelineFacts.tsx'
import { PipelineRuns } from './PipelineRuns.tsx'
import type { PipelineDetails } from './run-queries.ts'
import { usePipelinesLive } from './use-pipelines-live.ts'

const PipelineForm = lazyComponent(async () => (await import('../../forms/pipeline-form.tsx')).PipelineForm)
const PipelineTrigger = lazyComponent(async () => (await import('../../forms/pipeline-trigger.tsx')).PipelineTrigger)

const route = getRouteApi('/app/$teamSlug/pipelines/$pipelineId')

export function PipelinePage() {
  const params = route.useParams()
  usePipelinesLive(params.teamSlug)
  const query = useQuery(apiQuery('pipelines.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(pipeline) => <PipelineView teamSlug={params.teamSlug} pipeline={pipeline} />}
    </QueryView>
  )
}

function PipelineView({ teamSlug, pipeline }: { teamSlug: string; pipeline: PipelineDetails }) {
  const { t } = useTranslation('pipelines')
  const edit = useAnchor('edit')
  const trigger = useAnchor('trigger')
  const denied = { edit: useDenied('pipelines.update'), trigger: useDenied('pipelines.trigger') }
  const list = links.pipelines(teamSlug)
  const { id, name } = pipeline
  const params = { teamSlug, pipelineId: id }
  const removal = useRemoval('pipelines.delete', {
    input: { params },
    stale: [queryKey('pipelines.list')],
    question: { title: t('delete.title', { name }), text: t('delete.text'), action: t('delete.action') },
    done: t('delete.done', { name }),
    getWarning: (result) => (result && !result.hook.deleted ? result.hook.description : null),
    list,
  })
  return (
    <>
      <DetailsHead
        of={pipeline}
        list={{ label: t('title'), link: list }}
        edit={{ denied: denied.edit, show: edit.show }}
        removal={removal}
        inUse={false}
        actions={
          <Button variant="main" icon={Play} disabledReason={denied.trigger} onClick={trigger.show}>
            {t('trigger.action')}
          </Button>
        }
      />
      <div className="grid gap-4">
        <PipelineFacts pipeline={pipeline} />
        {pipeline.trigger.inputs.length > 0 && (
          <Box title={t('inputs.title')} trailing={pipeline.trigger.inputs.length}>
            <PipelineInputList label={t('inputs.title')} inputs={pipeline.trigger.inputs} />
          </Box>
        )}
        <PipelineRuns params={params} />
        <EventWatchers teamSlug={teamSlug} pipeline={pipeline} />
      </div>
      {edit.open && !denied.edit && <PipelineForm teamSlug={teamSlug} pipeline={pipeline} onClose={edit.close} />}
      {trigger.open && !denied.trigger && (
        <PipelineTrigger teamSlug={teamSlug} pipeline={pipeline} onClose={trigger.close} />
      )}
    </>
  )
}
