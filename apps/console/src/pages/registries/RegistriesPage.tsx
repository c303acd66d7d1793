import { type ResponseOf, registryTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Database } from 'lucide-react'
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

const RegistryForm = lazyComponent(async () => (await import('../../forms/registry-form.tsx')).RegistryForm)

export function RegistriesPage() {
  const { t } = useTranslation('registries')
  const { slug } = useTeam()
  const query = useQuery(apiQuery('registries.list', { params: { teamSlug: slug } }))
  const columns: Column<ResponseOf<'registries.list'>[number]>[] = [
    nameColumn(
      t('column.name'),
      (row) => links.registry(slug, row.id),
      (row) => (row.icon ? <AnimalIcon name={row.icon} /> : <Database aria-hidden />),
    ),
    {
      id: 'type',
      header: t('column.type'),
      narrow: 'end',
      sort: (row) => row.type,
      cell: (row) => <Pill>{t(`type.${row.type}`)}</Pill>,
    },
    {
      id: 'url',
      header: t('column.url'),
      sort: (row) => row.imageUrlPrefix,
      cell: (row) => <code>{row.imageUrlPrefix || row.url}</code>,
    },
    descriptionColumn(t('column.description')),
  ]
  const denied = useDenied('registries.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(registries) => t('sub', { count: registries.length })}
      add={{ label: t('add'), denied, form: (onClose) => <RegistryForm teamSlug={slug} onClose={onClose} /> }}
      empty={{ icon: Database, title: t('empty.title'), text: t('empty.text') }}
      search={t('filter')}
      searchText={(row) => [row.name, row.url, row.description]}
      choice={{
        label: t('types'),
        of: (row) => row.type,
        values: registryTypes,
        optionLabel: (value) => t(`type.${value}`),
      }}
      columns={columns}
    />
  )
}
