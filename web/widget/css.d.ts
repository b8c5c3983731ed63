// A style sheet is bundled as its text, minified: build.mjs.
declare module '*.css' {
  const text: string;
  export default text;
}
