import { ListFilter } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { Chips } from '../../../components/Chips.tsx'
import { Menu, MenuCheck, MenuLabel } from '../../../components/Menu.tsx'
import { SearchBox } from '../../../components/SearchBox.tsx'
import { type FieldFilter, getGroup } from '../form/sections.ts'
import type { VisibleSections } from './use-visible-sections.ts'

type Props = {
  sections: VisibleSections
  filter: FieldFilter | undefined
  setFilter: (filter: FieldFilter | undefined) => void
  text: string
  setText: (text: string) => void
}

/** The groups of settings to show. On a phone also the search and the choice of sections, which are in the navigation otherwise. */
export function SettingsFilter({ sections, filter, setFilter, text, setText }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Chips
        label={t('filter.label')}
        value={filter ?? 'used'}
        onChange={(next) => setFilter(next === 'used' ? undefined : next)}
        options={(['used', 'all', ...sections.groups] as const).map((value) => ({
          value,
          label: value === 'used' ? t('filter.used') : value === 'all' ? t('common:all') : t(`group.${value}`),
        }))}
      />
      <SearchBox label={t('nav.find')} value={text} onChange={setText} className="min-w-36 flex-1 md:hidden" />
      {!filter && (
        <span className="md:hidden">
          <Menu trigger={<Button icon={ListFilter}>{t('filter.settings', { count: sections.shown.length })}</Button>}>
            {sections.groups.map((group) => (
              <div key={group}>
                <MenuLabel>{t(`group.${group}`)}</MenuLabel>
                {sections.offered
                  .filter((id) => getGroup(id) === group)
                  .map((id) => (
                    <MenuCheck
                      key={id}
                      checked={sections.shown.includes(id)}
                      onChange={(on) => (on ? sections.show(id) : sections.hide(id))}
                    >
                      {t(`section.${id}`)}
                    </MenuCheck>
                  ))}
              </div>
            ))}
          </Menu>
        </span>
      )}
    </div>
  )
}
