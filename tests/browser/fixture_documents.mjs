// Documents for the fixture server. Emoji precede the cited sentences on purpose: offsets on the
// wire count code points, JavaScript counts UTF-16 code units.

export const documents = [
  {
    id: 1,
    title: 'Parental leave',
    path: 'time-off/parental-leave.md',
    mediaType: 'text/markdown',
    headings: ['Parental leave', 'How long it is'],
    text: `# Parental leave

Welcome to the world, small colleague 👶🏽. This page says what your parents may take, and who pays.
It applies to birth, adoption and foster care alike 🏠.

## How long it is

Every parent may take 26 weeks of parental leave for each child, until the child turns
eight. The first nine weeks are paid at 100 % of salary if they are taken in the child's first
year; the other seventeen weeks are unpaid.

| Weeks | Paid | When |
| --- | --- | --- |
| 1 to 9 | 100 % of salary | first year of the child |
| 10 to 26 | unpaid | until the eighth birthday |

## How to ask for it

1. Tell your manager at least two months before the leave begins.
2. Fill in *Parental leave* in Tally, with the weeks you have in mind.
3. The People team answers within five working days.

A request can be moved, not refused. If the timing is hard for the team, your manager may propose
another period once, and must say why.

## While you are away

- **Pension.** Contributions go on during paid weeks and stop during unpaid ones.
- **Holidays.** You keep building up annual leave, also in unpaid weeks.
- **Laptop.** Keep it. Nobody expects you to open it.

> **Superseded.** Until 2024 only six weeks were paid, at 70 %. Leave that began before 1 January
> 2024 follows the old rule.

\`\`\`
tally request --kind parental --weeks 9 --from 2026-09-01
\`\`\`
`,
  },
  {
    id: 2,
    title: 'Payroll and payslips',
    path: 'money/payroll-and-payslips.html',
    mediaType: 'text/html',
    headings: ['Payroll and payslips', 'During leave'],
    text: `Payroll and payslips

Salaries are paid on the 25th, or on the working day before it.

During leave

Paid leave shows on the payslip as a line of its own. Holiday allowance is built up during paid weeks of parental leave only.

- Questions go to payroll, extension 2041.
- Corrections are paid with the next salary.

Year end

The annual statement is in Tally from 20 January.`,
  },
  {
    id: 3,
    title: 'Annual leave',
    path: 'time-off/annual-leave.md',
    mediaType: 'text/markdown',
    headings: ['Annual leave'],
    text: `# Annual leave

Full-time colleagues have 27 days of annual leave a year. Unused days lapse on 1 July of the next year.
`,
  },
  {
    id: 4,
    title: 'Working hours',
    path: 'people/working-hours.md',
    mediaType: 'text/markdown',
    headings: ['Working hours'],
    text: '# Working hours\n\nThe office is open from 7:30 to 19:00. Overtime is taken back as time within the quarter.\n',
  },
];

export const documentById = (id) => documents.find((document) => document.id === id);
