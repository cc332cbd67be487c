-- pages.lua - a filter of pandoc: a link to a Markdown page of the repository becomes a link to its HTML page.
function Link(link)
    if not link.target:match("^%a+:") then
        link.target = link.target:gsub("README%.md", "index.md"):gsub("%.md$", ".html"):gsub("%.md#", ".html#")
    end
    return link
end
