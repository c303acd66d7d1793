import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery } from '../../api/client.ts'
import { FailedPage } from '../../components/FailedPage.tsx'
import { NotFound } from '../../components/NotFound.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { isStatus } from '../../errors/describe-error.ts'
import { ConfigurationView } from './shell/ConfigurationView.tsx'

export function ConfigurationPage() {
  const params = useParams({ from: '/app/$teamSlug/container-configurations/$configId' })
  const config = useQuery(apiQuery('container-configurations.get', { params }))
  const relations = useQuery(apiQuery('container-configurations.relations', { params }))
  const error = config.error ?? relations.error
  if (config.data && relations.data)
    return (
      <ConfigurationView
        key={config.data.id}
        teamSlug={params.teamSlug}
        config={config.data}
        relations={relations.data}
      />
    )
  if (isStatus(error, 404) || isStatus(error, 403)) return <NotFound />
  if (error)
    return (
      <FailedPage
        error={error}
        busy={config.isFetching || relations.isFetching}
        retry={() => {
          void config.refetch()
          void relations.refetch()
        }}
      />
    )
  return <SkeletonPage />
}
