import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Package as PackageIcon } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { Pill } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

const PackageForm = lazyComponent(async () => (await import('../../forms/package-form.tsx')).PackageForm)

type Package = ResponseOf<'packages.list'>[number]

export function PackagesPage() {
  const { t } = useTranslation('packages')
  const { slug } = useTeam()
  const query = useQuery(apiQuery('packages.list', { params: { teamSlug: slug } }))
  const denied = useDenied('packages.create')
  const columns: Column<Package>[] = [
    nameColumn(
      t('column.name'),
      (row) => links.package(slug, row.id),
      (row) => (row.icon ? <AnimalIcon name={row.icon} /> : <PackageIcon aria-hidden />),
    ),
    {
      id: 'projects',
      header: t('column.projects'),
      cell: (row) => {
        const names = getProjects(row).join(', ')
        return (
          <span title={names} data-no-value={!names || undefined}>
            {names || '-'}
          </span>
        )
      },
    },
    {
      id: 'environments',
      header: t('column.environments'),
      cell: ({ environments }) => (
        <span className="inline-flex gap-1" data-no-value={environments.length === 0 || undefined}>
          {environments.length === 0 ? '-' : environments.map((name) => <Pill key={name}>{name}</Pill>)}
        </span>
      ),
    },
    descriptionColumn(t('column.description')),
  ]
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(packages) => t('sub', { count: packages.length })}
      add={{ label: t('add'), denied, form: (onClose) => <PackageForm teamSlug={slug} onClose={onClose} /> }}
      empty={{ icon: PackageIcon, title: t('empty.title'), text: t('empty.text') }}
      search={t('filter')}
      searchText={(row) => [row.name, row.description, ...getProjects(row), ...row.environments]}
      columns={columns}
    />
  )
}

/** Each project once, though several of its chains may belong to the package. */
const getProjects = ({ versionChains, emptyChains = [] }: Package): string[] => [
  ...new Set([...versionChains, ...emptyChains].map(({ project }) => project.name)),
]
