// Lets long words in tables be broken after a separator, before a capital letter, and after each 12 characters of an id.
const LONG = /\S{12,}/
const PLACES = /(?<=[\w)\]][/_.=&?-]+)(?=\w)|(?<=[a-z])(?=[A-Z])/

const split = (word) => word.split(PLACES).flatMap((part) => (part.length > 16 ? part.match(/.{1,12}/g) : part))

addEventListener("DOMContentLoaded", () => {
  for (const cell of document.querySelectorAll("article :is(table.table, table.dataframe) :is(td, th)")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    const long = []
    while (texts.nextNode()) if (LONG.test(texts.currentNode.data)) long.push(texts.currentNode)
    for (const text of long) {
      const words = text.data.split(/(\s+)/).map((word) => (LONG.test(word) ? split(word) : [word]))
      text.replaceWith(...words.flatMap((parts) => parts.flatMap((part, n) => (n ? [document.createElement("wbr"), part] : part))))
    }
  }
})
