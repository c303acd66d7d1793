import { Link, useNavigate } from '@tanstack/react-router'
import { BookOpen, Check, Keyboard, LogOut, ScrollText, User, Users } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useMe, useTeamOrNone } from '../api/me.ts'
import { Avatar } from '../components/Avatar.tsx'
import { Chips } from '../components/Chips.tsx'
import { Menu, MenuItem, MenuLabel, MenuLine } from '../components/Menu.tsx'
import { links } from '../routing/links.ts'
import { setTheme, themes, useTheme } from '../stores/theme.ts'

/** Profile, teams, theme and the way out. */
export function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { t } = useTranslation()
  const me = useMe()
  const team = useTeamOrNone()
  const theme = useTheme()
  const navigate = useNavigate()
  if (!me) return null
  const { name, email } = me.user
  return (
    <Menu
      width="w-64"
      trigger={
        <button
          type="button"
          aria-label={
            team ? t('top.user', { name, role: t(`role.${team.role}`), team: team.name }) : t('top.userAlone', { name })
          }
          className="rounded-full"
        >
          <Avatar name={name} />
        </button>
      }
    >
      <div className="px-2 py-1.5">
        <p className="truncate font-strong">{name}</p>
        <p className="truncate text-small text-ink-2">{email}</p>
      </div>
      <MenuLine />
      <MenuItem icon={User} onSelect={() => void navigate(links.settings())}>
        {t('top.profile')}
      </MenuItem>
      <MenuLabel>{t('top.team')}</MenuLabel>
      {me.teams.map((other) => (
        <MenuItem key={other.id} asChild>
          <Link
            {...links.teamHome(other.slug)}
            aria-current={other.id === team?.id ? 'true' : undefined}
            className="aria-[current=true]:font-strong"
          >
            <span className="min-w-0 flex-1 truncate">{other.name}</span>
            <span className="text-small text-ink-3">{t(`role.${other.role}`)}</span>
            {other.id === team?.id ? <Check aria-hidden className="text-accent" /> : <span className="w-4" />}
          </Link>
        </MenuItem>
      ))}
      <MenuItem icon={Users} onSelect={() => void navigate(links.teams())}>
        {t('top.allTeams')}
      </MenuItem>
      {team && (
        <MenuItem icon={ScrollText} onSelect={() => void navigate(links.auditLog(team.slug))}>
          {t('nav.auditLog')}
        </MenuItem>
      )}
      <MenuLine />
      <MenuItem asChild>
        <a href="/basics/api" target="_blank" rel="noreferrer">
          <BookOpen aria-hidden className="text-ink-2" />
          {t('top.documentation')}
        </a>
      </MenuItem>
      <MenuItem icon={Keyboard} onSelect={onShortcuts}>
        {t('top.shortcuts')}
      </MenuItem>
      <div className="flex items-center justify-between gap-2 px-2 py-1.5">
        <span>{t('top.theme')}</span>
        <Chips
          label={t('top.theme')}
          value={theme}
          onChange={setTheme}
          options={themes.map((value) => ({ value, label: t(`theme.${value}`) }))}
        />
      </div>
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => void navigate(links.logout())}>
        {t('top.logout')}
      </MenuItem>
    </Menu>
  )
}
