import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Rocket } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { State } from '../../components/State.tsx'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const deploymentQuickActions: QuickActionSource = {
  area: 'deployments',
  icon: Rocket,
  useQuickActions: (teamSlug, typed) => {
    const { t } = useTranslation('palette')
    return useDeployments(teamSlug, typed).map(({ id, project, version, node, prefix, status }) => ({
      id,
      searchText: [project.name, version.name, node.name, prefix],
      link: links.deployment(teamSlug, id),
      content: (
        <>
          {project.name} {project.type === 'versioned' && <code>{version.name}</code>}
          <span className="text-ink-2"> {t('on', { node: node.name, prefix })}</span>
        </>
      ),
      trailing: <State kind="deployment" value={status} />,
    }))
  },
}

/** As many as are listed at once; of more, those that were changed last. */
const deploymentsMax = 200
const pauseMs = 200

/** The newest deployments, and where there are more the ones that fit what is typed, once it pauses. */
function useDeployments(teamSlug: string, typed: string) {
  const [word, setWord] = useState('')
  useEffect(() => {
    // The server looks for one text; the rest of the words is matched here.
    const longest = typed.split(/\s+/).reduce((one, other) => (other.length > one.length ? other : one))
    const timer = setTimeout(() => setWord(longest), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const list = (filter?: string) =>
    apiQuery('deployments.list', { params: { teamSlug }, query: { skip: 0, take: deploymentsMax, filter } })
  const newest = useQuery(list()).data
  const isPart = newest !== undefined && newest.total > newest.items.length
  const found = useQuery({ ...list(word), enabled: isPart && word !== '', placeholderData: keepPreviousData }).data
  const all = [...(newest?.items ?? []), ...((isPart && found?.items) || [])]
  return [...new Map(all.map((deployment) => [deployment.id, deployment])).values()]
}
